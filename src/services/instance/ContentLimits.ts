/*
 * Bounds of what people write. The actor enforces them and the instance document tells clients of them: both must agree
 * (limits-and-rates.md section 1). Texts: html/Text.ts.
 */

/** Statuses that an account may pin. */
/** Posts of an account that are not finished. */
export const draftsMax = 300
export const pinsMax = 5
export const featuredTagsMax = 10
/** Lists of an account; accounts, and hashtags, of one list. */
export const listsMax = 50
export const listAccountsMax = 5_000
export const listTagsMax = 100
/** Bounds of a profile, in characters and pieces. */
export const displayNameCharactersMax = 40
export const profileFieldsMax = 4
export const profileFieldCharactersMax = 255
export const pictureDescriptionCharactersMax = 150
export const attributionDomainsMax = 100
export const attributionDomainCharactersMax = 253
/** A biography as it is written, in bytes: addresses in it count 23 characters, however long they are. */
export const noteBytesMax = 8_192

/**
 * Bytes of all texts as clients get them, escaped as JSON. Of a status: its HTML, content warning, poll, descriptions,
 * hashtags. Of an account: names, HTML, fields.
 */
export const statusBytesMax = 65_536
export const accountBytesMax = 16_384

/** Files of a status, and what one may hold: characters, bytes, pixels, frames a second. */
export const mediaAttachmentsMax = 4
export const mediaDescriptionCharactersMax = 10_000
export const imageBytesMax = 16_777_216
export const imagePixelsMax = 33_177_600
/** Edges and frames of a picture; one that moves and stays one has no more pixels in all its frames than a still one. */
export const imageEdgePixelsMax = 16_000
export const animationFramesMax = 1_000
export const animationPixelsMax = 921_600
/** Pixels of all frames of an animation that becomes a video, which is made frame by frame. */
export const convertedPixelsMax = 460_800_000
/** What a picture is shrunk to, and its preview: pixels. */
export const storedImagePixelsMax = 8_294_400
export const previewPixelsMax = 230_400
export const videoBytesMax = 103_809_024
export const videoPixelsMax = 8_294_400
export const videoFramesPerSecondMax = 120
export const videoFramesMax = 36_000
/** A picture of the profile as it is sent, in bytes; what it becomes: edges of an avatar and pixels of a header. */
export const profilePictureBytesMax = 8_388_608
export const avatarEdgePixels = 400
export const headerPixelsMax = 750_000

/** A custom emoji as it is given, in bytes, and the longer edge of what it becomes. */
export const emojiBytesMax = 262_144
export const emojiEdgePixelsMax = 256
/** The site's own picture in previews, and the characters of its description. */
export const instanceThumbnailPixels = { width: 1200, height: 630 }
export const instanceThumbnailDescriptionCharactersMax = 200

/** A poll's options and their characters, and its duration in seconds. */
export const pollOptionsMax = 4
export const pollOptionCharactersMax = 50
export const pollSecondsMin = 300
export const pollSecondsMax = 2_629_746
