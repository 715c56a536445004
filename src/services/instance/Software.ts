/** Name of this program in documents about the server, as NodeInfo allows it (S-032). */
export const softwareName = "murmuration"
/** Version of this program; that of package.json. */
export const softwareVersion = "0.2.0"

/**
 * Mastodon version whose API this server implements, with our own version as build metadata. Clients parse it
 * (semver.org, 10).
 */
export const interfaceVersion = `4.7.0+${softwareName}-${softwareVersion}`
/** Mastodon's API level, which tells clients the available features. */
export const interfaceLevel = 11
