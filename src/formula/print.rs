//! Prints a formula as a text that parses to an equal formula.

use std::fmt::{Display, Formatter, Result, Write};

use crate::formula::ast::{
    CALL, CASE, Formula, FormulaNode, FormulaOperand, Function, NodeKind, NodeParts, Precedence,
};

impl Display for Formula {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        write(&self.steps, out)
    }
}

fn write(steps: &[FormulaNode], out: &mut Formatter<'_>) -> Result {
    let Some((step, rest)) = steps.split_first() else { return Ok(()) };
    let mut parts = NodeParts(rest);
    match &step.kind {
        NodeKind::Number(number) => Display::fmt(number, out),
        NodeKind::Text(text) => quoted(text, out),
        NodeKind::Operand(operand) => Display::fmt(operand, out),
        NodeKind::Call(Function::Negative) => {
            out.write_char('-')?;
            write_within(CALL, rest, out)
        }
        NodeKind::Call(Function::Chain) => {
            // There are only a few levels.
            let tighter = level(steps).saturating_add(1);
            parts.try_for_each(|part| {
                if let Some(operator) = part.first().and_then(|step| step.joint) {
                    write!(out, " {} ", operator.written().0)?;
                }
                write_within(tighter, part, out)
            })
        }
        NodeKind::Call(Function::Today) => out.write_str(Function::Today.written().0),
        NodeKind::Call(function) => {
            write!(out, "{}(", function.written().0)?;
            if let (Function::Switch, Some(value)) = (function, parts.next()) {
                write(value, out)?;
                write_cases(parts, out)?;
            } else {
                write_parted(NodeParts(rest), out)?;
            }
            out.write_char(')')
        }
    }
}

/// Writes a node in a position that requires at least this precedence without brackets.
fn write_within(parent_level: Precedence, steps: &[FormulaNode], out: &mut Formatter<'_>) -> Result {
    if level(steps) >= parent_level {
        return write(steps, out);
    }
    out.write_char('(')?;
    write(steps, out)?;
    out.write_char(')')
}

/// Returns the precedence of a node: for a chain that of the operator before its second part.
fn level(steps: &[FormulaNode]) -> Precedence {
    match steps.split_first() {
        Some((step, rest)) if step.kind == NodeKind::Call(Function::Chain) => {
            let operator = NodeParts(rest).nth(1).and_then(|second| second.first()?.joint);
            operator.map_or(CALL, |operator| operator.written().1)
        }
        _ => CALL,
    }
}

fn write_parted(parts: NodeParts<'_>, out: &mut Formatter<'_>) -> Result {
    for (position, part) in parts.enumerate() {
        if position > 0 {
            out.write_char(';')?;
        }
        write(part, out)?;
    }
    Ok(())
}

/// Writes the arguments of a `SWITCH` after the value: the cases are separated by spaces.
fn write_cases(mut parts: NodeParts<'_>, out: &mut Formatter<'_>) -> Result {
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

impl Display for FormulaOperand {
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
    for character in text.chars() {
        if matches!(character, '"' | '\\') {
            out.write_char('\\')?;
        }
        out.write_char(character)?;
    }
    out.write_char('"')
}
