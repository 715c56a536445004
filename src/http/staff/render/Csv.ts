/** Beginning of a cell that a spreadsheet would take for a formula. */
const formula = /^[=+\-@\t\r]/

/** Renders a line of a CSV file (RFC 4180); formulas are escaped. */
export const csvLine = (values: ReadonlyArray<string>): string =>
  `${
    values.map((value) => {
      const plain = formula.test(value) ? `'${value}` : value
      return /[",\r\n]/.test(plain) ? `"${plain.replaceAll("\"", "\"\"")}"` : plain
    }).join(",")
  }\r\n`
