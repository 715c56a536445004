/** Scripts that are written from right to left (ISO 15924), of languages that people use on the web. */
const rightToLeft = new Set(["Adlm", "Arab", "Hebr", "Nkoo", "Rohg", "Syrc", "Thaa"])

/** Returns the direction in which a language (BCP 47) is written. */
export const directionOf = (tag: string): "ltr" | "rtl" =>
  rightToLeft.has(new Intl.Locale(tag).maximize().script ?? "") ? "rtl" : "ltr"
