/*
 * Limits on what local users write. The actor enforces them and the instance document announces them; both must agree
 * (limits-and-rates.md section 1). Limits on text are in html/Text.ts.
 */

/** Maximum drafts, pinned statuses and featured hashtags of an account. */
export const draftsMax = 300
export const pinsMax = 5
export const featuredTagsMax = 10
/** Maximum lists of an account, and maximum accounts and hashtags of a list. */
export const listsMax = 50
export const listAccountsMax = 5_000
export const listTagsMax = 100
/** Limits of a profile, in characters and items. */
export const displayNameCharactersMax = 40
export const profileFieldsMax = 4
export const profileFieldCharactersMax = 255
export const pictureDescriptionCharactersMax = 150
export const attributionDomainsMax = 100
export const attributionDomainCharactersMax = 253
/** Maximum bytes of a biography as written; each URL counts 23 characters, regardless of its length. */
export const noteBytesMax = 8_192

/**
 * Maximum bytes of all texts as clients get them, escaped as JSON. For a status: HTML, content warning, poll,
 * descriptions and hashtags. For an account: names, HTML and fields.
 */
export const statusBytesMax = 65_536
export const accountBytesMax = 16_384

/** Maximum media of a status, and limits of each: characters, bytes, pixels, frames per second. */
export const mediaAttachmentsMax = 4
export const mediaDescriptionCharactersMax = 10_000
export const imageBytesMax = 16_777_216
export const imagePixelsMax = 33_177_600
/**
 * Maximum edge and frames of a picture. An animation that stays one has at most as many pixels in all frames as a still
 * picture.
 */
export const imageEdgePixelsMax = 16_000
export const animationFramesMax = 1_000
export const animationPixelsMax = 921_600
/** Maximum pixels of all frames of an animation that is converted to a video, frame by frame. */
export const convertedPixelsMax = 460_800_000
/** Size in pixels that a picture and its preview are scaled down to. */
export const storedImagePixelsMax = 8_294_400
export const previewPixelsMax = 230_400
export const videoBytesMax = 103_809_024
export const videoPixelsMax = 8_294_400
export const videoFramesPerSecondMax = 120
export const videoFramesMax = 36_000
/** Maximum bytes of an uploaded profile picture; the edge of the resulting avatar, and the pixels of the header. */
export const profilePictureBytesMax = 8_388_608
export const avatarEdgePixels = 400
export const headerPixelsMax = 750_000

/** Maximum bytes of an uploaded custom emoji, and the longer edge of the result. */
export const emojiBytesMax = 262_144
export const emojiEdgePixelsMax = 256
/** Size of the server's picture in previews, and maximum characters of its description. */
export const instanceThumbnailPixels = { width: 1200, height: 630 }
export const instanceThumbnailDescriptionCharactersMax = 200

/** Limits of a poll: options, their characters, and duration in seconds. */
export const pollOptionsMax = 4
export const pollOptionCharactersMax = 50
export const pollSecondsMin = 300
export const pollSecondsMax = 2_629_746
