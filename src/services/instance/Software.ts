/** What this program calls itself in documents about the server; the name as NodeInfo allows it (S-032). */
export const softwareName = "murmuration"
export const softwareVersion = "0.1.0"

/** Version of Mastodon whose interface this server speaks, with our own as build metadata: clients parse it (semver.org, 10). */
export const interfaceVersion = `4.7.0+${softwareName}-${softwareVersion}`
/** What clients may use, by Mastodon's own counting. */
export const interfaceLevel = 11
