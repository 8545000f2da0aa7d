//! Decides how the Workers runtime reaches the service: the entry of a request, the object that commits, its SQL.
//! It must not know what a voucher is; what it hands over is bytes, headers, a moment and a seed.

mod asset;
mod bindings;
mod chance;
mod durable;
mod entry;
mod gate;
mod health;
mod key;
mod log;
mod metrics;
mod object;
#[cfg(feature = "rehearsal")]
mod rehearsal;
mod wire;
