/*
 * Addresses of pages and pictures that other rooms name too. Where they are answered is the pages' affair.
 */

export const signInPath = "/auth/sign_in"
/** Where a code is asked for after the password. */
export const secondStepPath = "/auth/two_factor"
/** Where somebody sets their second factor up. */
export const twoFactorPath = "/settings/two_factor_authentication"
/** The reference of the API. */
export const docsPath = "/api/docs"

/** Widths in which the server's icon is there, in pixels. */
export const iconSizes = [36, 48, 72, 96, 144, 192, 256, 384, 512] as const
export const iconPath = (size: typeof iconSizes[number]): string => `/assets/icon-${size}.png`
/** The server's picture in previews. */
export const thumbnailPath = "/assets/preview.png"
