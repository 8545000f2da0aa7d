//! Decides how a formula is written: the text that is read as the same formula. It must not know what it comes to.

use std::fmt::{Display, Formatter, Result, Write};

use crate::formula::ast::{CALLED, CASE, Formula, Function, Level, Operand, Parts, Step, What};

impl Display for Formula {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        write(&self.steps, out)
    }
}

fn write(steps: &[Step], out: &mut Formatter<'_>) -> Result {
    let Some((step, rest)) = steps.split_first() else { return Ok(()) };
    let mut parts = Parts(rest);
    match &step.what {
        What::Number(number) => Display::fmt(number, out),
        What::Text(text) => quoted(text, out),
        What::Operand(operand) => Display::fmt(operand, out),
        What::Call(Function::Negative) => {
            out.write_char('-')?;
            write_within(CALLED, rest, out)
        }
        What::Call(Function::Chain) => {
            let tighter = level(steps).saturating_add(1);
            parts.try_for_each(|part| {
                if let Some(operator) = part.first().and_then(|step| step.joint) {
                    write!(out, " {} ", operator.written().0)?;
                }
                write_within(tighter, part, out)
            })
        }
        What::Call(Function::Today) => out.write_str(Function::Today.written().0),
        What::Call(function) => {
            write!(out, "{}(", function.written().0)?;
            if let (Function::Switch, Some(value)) = (function, parts.next()) {
                write(value, out)?;
                write_cases(parts, out)?;
            } else {
                write_parted(Parts(rest), out)?;
            }
            out.write_char(')')
        }
    }
}

/// Writes a node where only what binds at least so tightly can stand without brackets.
fn write_within(tight: Level, steps: &[Step], out: &mut Formatter<'_>) -> Result {
    if level(steps) >= tight {
        return write(steps, out);
    }
    out.write_char('(')?;
    write(steps, out)?;
    out.write_char(')')
}

/// How tightly a node holds together: a chain as tightly as the operator before its second part.
fn level(steps: &[Step]) -> Level {
    match steps.split_first() {
        Some((step, rest)) if step.what == What::Call(Function::Chain) => {
            let operator = Parts(rest).nth(1).and_then(|second| second.first()?.joint);
            operator.map_or(CALLED, |operator| operator.written().1)
        }
        _ => CALLED,
    }
}

fn write_parted(parts: Parts<'_>, out: &mut Formatter<'_>) -> Result {
    for (place, part) in parts.enumerate() {
        if place > 0 {
            out.write_char(';')?;
        }
        write(part, out)?;
    }
    Ok(())
}

/// The arguments of a `SWITCH` after the value: the cases are parted by blanks.
fn write_cases(mut parts: Parts<'_>, out: &mut Formatter<'_>) -> Result {
    let mut before = ';';
    while let Some(first) = parts.next() {
        out.write_char(before)?;
        let Some(result) = parts.next() else {
            return write(first, out);
        };
        write!(out, "{CASE}(")?;
        write(first, out)?;
        out.write_char(';')?;
        write(result, out)?;
        out.write_char(')')?;
        before = if parts.0.first().is_some_and(|step| step.size == parts.0.len()) { ';' } else { ' ' };
    }
    Ok(())
}

impl Display for Operand {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        out.write_str(self.which.prefix())?;
        let (written, keyed) = self.name.written();
        out.write_str(written)?;
        if keyed {
            out.write_char('(')?;
            quoted(&self.key, out)?;
            out.write_char(')')?;
        }
        Ok(())
    }
}

fn quoted(text: &str, out: &mut Formatter<'_>) -> Result {
    out.write_char('"')?;
    for letter in text.chars() {
        if matches!(letter, '"' | '\\') {
            out.write_char('\\')?;
        }
        out.write_char(letter)?;
    }
    out.write_char('"')
}
