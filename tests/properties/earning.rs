//! What events earn: each way of calculating, each reason why not, and histories beside a naive second model that reads the stored
//! documents itself. They must not know how the engine holds a rule.

mod examples;
mod histories;
mod naive;
mod reading;
mod shop;
