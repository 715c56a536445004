/** Maximum length, in characters. */
export const usernameCharactersMax = 30

/** Returns true for letters, digits and underscores in any case. */
export const isValid = (username: string): boolean => /^[a-z0-9_]+$/i.test(username)

/** Names that could pass for the server or its staff (Mastodon's list), without look-alikes. */
const reserved = new Set(
  [
    "abuse account accounts admin administration administrator admins everyone help helpdesk instance mod moderator",
    "moderators mods owner root security server staff support webmaster"
  ].join(" ").split(" ").map((name) => lookalikeKey(name))
)

/** Replaces digits that look like letters by those letters. */
export function lookalikeKey(username: string): string {
  const letters = "oizeasgtbg"
  return username.toLowerCase().replaceAll("_", "").replace(/\d/g, (digit) => letters[Number(digit)] ?? digit)
    .replaceAll("l", "i")
}

export const isReserved = (username: string): boolean => reserved.has(lookalikeKey(username))
