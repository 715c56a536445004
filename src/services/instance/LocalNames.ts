/* Names of local accounts in URLs of this server. */

/** Name of a local account in a URL: its username in any case, or its id in a path below `/ap/users`. */
export type LocalName = string | bigint

/** Returns true if `name` is a name of this account. */
export const isNamed = (
  name: LocalName,
  { id, username }: { readonly id: bigint | string; readonly username: string }
): boolean => typeof name === "bigint" ? String(id) === String(name) : username.toLowerCase() === name.toLowerCase()

/** Splits names for a statement that finds accounts by `number`, or by `username` in lower case; the other is 0 or "". */
export const nameColumns = (names: ReadonlyArray<LocalName>) => ({
  numbers: names.map((name) => typeof name === "bigint" ? name : 0n),
  usernames: names.map((name) => typeof name === "bigint" ? "" : name.toLowerCase())
})
