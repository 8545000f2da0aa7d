// Lists the documented differences between answers of earlier versions and those of today, with the reason of each.

/** `covers({ method, template, member, pointer, old, value })` tells of a place whether a difference explains it; `*` stands for an index in `member`. */
export const differences = [];
