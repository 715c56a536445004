/** What a program for tables would take for a formula. */
const formula = /^[=+\-@\t\r]/

/** One line of a CSV file (RFC 4180); nothing in it is calculated where it is opened. */
export const csvLine = (values: ReadonlyArray<string>): string =>
  `${
    values.map((value) => {
      const plain = formula.test(value) ? `'${value}` : value
      return /[",\r\n]/.test(plain) ? `"${plain.replaceAll("\"", "\"\"")}"` : plain
    }).join(",")
  }\r\n`
