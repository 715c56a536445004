/** What this program calls itself in documents about the server; the name as NodeInfo allows it (S-032). */
export const softwareName = "murmuration"
export const softwareVersion = "0.1.0"

/** Clients look for the version of Mastodon whose interface a server speaks. */
export const interfaceVersion = `4.7.0 (compatible; Murmuration ${softwareVersion})`
/** What clients may use, by Mastodon's own counting. */
export const interfaceLevel = 11
