/** Name of this program in documents about the server, as NodeInfo allows it (S-032). */
export const softwareName = "murmuration"
export const softwareVersion = "0.1.0"

/**
 * Mastodon version whose API this server implements, with our own version as build metadata. Clients parse it
 * (semver.org, 10).
 */
export const interfaceVersion = `4.7.0+${softwareName}-${softwareVersion}`
/** Mastodon's API level, which tells clients the available features. */
export const interfaceLevel = 11
