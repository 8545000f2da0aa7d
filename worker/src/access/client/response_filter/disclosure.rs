//! Disclosure of a value to a client, as data.

/// The part of a value that may be disclosed. A list is filtered value by value, and null stays null.
pub enum Disclosure {
    /// All of it: it contains only data that the caller sent, or that the engine writes for clients.
    All,
    /// These members of an object.
    These(&'static [(&'static str, Disclosure)]),
    /// These members, without those that are null.
    NonNull(&'static [(&'static str, Disclosure)]),
    /// This disclosure for each member of an object, with any name.
    Each(&'static Disclosure),
    /// Metadata, as far as it is public.
    Metadata(DisclosedMetadata),
    /// Customer data, for a client that has proven the customer or is trusted; to others even its existence is not disclosed.
    Person(&'static Disclosure),
}

/// Owner of custom data.
#[derive(Clone, Copy)]
pub enum DisclosedMetadata {
    /// A voucher's.
    Voucher,
    /// A campaign's or a tier's.
    Campaign,
    /// A product's or a SKU's.
    Goods,
    /// A voucher or a promotion tier, which the engine distinguishes.
    Offer,
}
