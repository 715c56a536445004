/*
 * Bounds of what people write, where the actor that enforces them and the instance document that tells clients of them
 * must agree (limits-and-rates.md section 1). Texts: html/Text.ts.
 */

/** Statuses that an account may pin. */
export const pinsMax = 5
export const featuredTagsMax = 10
/** Bounds of a profile, in characters and pieces. */
export const displayNameCharactersMax = 40
export const profileFieldsMax = 4
export const profileFieldCharactersMax = 255
export const pictureDescriptionCharactersMax = 150
export const attributionDomainsMax = 100

/** Files of a status, and what one may hold: characters, bytes, pixels, frames a second. */
export const mediaAttachmentsMax = 4
export const mediaDescriptionCharactersMax = 10_000
export const imageBytesMax = 16_777_216
export const imagePixelsMax = 33_177_600
export const videoBytesMax = 103_809_024
export const videoPixelsMax = 8_294_400
export const videoFramesPerSecondMax = 120

/** A poll's options and their characters, and its duration in seconds. */
export const pollOptionsMax = 4
export const pollOptionCharactersMax = 50
export const pollSecondsMin = 300
export const pollSecondsMax = 2_629_746
