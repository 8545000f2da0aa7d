//! Decides how a formula is written: the text that is read as the same formula. It must not know what it comes to.

use std::fmt::{Display, Formatter, Result, Write};

use crate::formula::ast::{CASE, Formula, Function, Level, Node, Operand, TIGHTEST};

impl Display for Formula {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        self.root.write(formatter)
    }
}

impl Node {
    fn write(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            Node::Number(number) => Display::fmt(number, out),
            Node::Text(text) => quoted(text, out),
            Node::Operand(operand) => Display::fmt(operand, out),
            Node::Negative(inner) => {
                out.write_char('-')?;
                inner.write_within(TIGHTEST, out)
            }
            Node::Infix(first, rest) => {
                let level = self.level().saturating_add(1);
                first.write_within(level, out)?;
                for (operator, node) in rest {
                    out.write_char(' ')?;
                    out.write_str(operator.written().0)?;
                    out.write_char(' ')?;
                    node.write_within(level, out)?;
                }
                Ok(())
            }
            Node::Call(Function::Today, _) => out.write_str(Function::Today.written()),
            Node::Call(function, arguments) => {
                out.write_str(function.written())?;
                out.write_char('(')?;
                match (function, arguments.split_first()) {
                    (Function::Switch, Some((value, cases))) => write_cases(value, cases, out)?,
                    _ => write_parted(arguments, out)?,
                }
                out.write_char(')')
            }
        }
    }

    /// Writes this where only what binds at least so tightly can stand without brackets.
    fn write_within(&self, level: Level, out: &mut Formatter<'_>) -> Result {
        if self.level() >= level {
            return self.write(out);
        }
        out.write_char('(')?;
        self.write(out)?;
        out.write_char(')')
    }

    /// How tightly it holds together.
    fn level(&self) -> Level {
        match self {
            Node::Infix(_, rest) => rest.first().map_or(TIGHTEST, |(operator, _)| operator.written().1),
            _ => TIGHTEST,
        }
    }
}

fn write_parted(nodes: &[Node], out: &mut Formatter<'_>) -> Result {
    for (place, node) in nodes.iter().enumerate() {
        if place > 0 {
            out.write_char(';')?;
        }
        node.write(out)?;
    }
    Ok(())
}

/// The arguments of a `SWITCH`: the cases are parted by blanks.
fn write_cases(value: &Node, cases: &[Node], out: &mut Formatter<'_>) -> Result {
    value.write(out)?;
    let mut before = ';';
    let mut pairs = cases.chunks_exact(2);
    for pair in pairs.by_ref() {
        out.write_char(before)?;
        out.write_str(CASE)?;
        out.write_char('(')?;
        write_parted(pair, out)?;
        out.write_char(')')?;
        before = ' ';
    }
    out.write_char(';')?;
    write_parted(pairs.remainder(), out)
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
