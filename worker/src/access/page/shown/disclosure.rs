//! What may be told of a value to a page, as data. It must not know any answer.

/// What may be told of a value. A list is told value by value, and nothing is told as nothing.
pub enum Disclosure {
    /// All of it: it says only what the caller sent, or what the engine writes for pages.
    All,
    /// These members of an object.
    These(&'static [(&'static str, Disclosure)]),
    /// The same without those that are nothing, which are left out.
    Said(&'static [(&'static str, Disclosure)]),
    /// Of each member of an object, whatever its name, this.
    Each(&'static Disclosure),
    /// Custom data, as far as it is public.
    Metadata(Of),
    /// Of the customer, to a page that has proven who that is or is believed; to another not even that there is one.
    Person(&'static Disclosure),
}

/// Whose custom data.
#[derive(Clone, Copy)]
pub enum Of {
    /// A voucher's.
    Voucher,
    /// A campaign's or a tier's.
    Campaign,
    /// A product's or a SKU's.
    Goods,
    /// A voucher's or a tier's, which the engine tells apart.
    Offer,
}
