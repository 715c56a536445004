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

/** The server's icon with this edge in pixels, and the one of tabs: the operator's, or its own. */
export const iconPath = (edge: number): `/${string}` => `/assets/icon-${edge}.png`
export const faviconPath = (edge: number): `/${string}` => `/assets/favicon-${edge}.png`
/** What browsers ask for on their own; they look at the bytes, not at the name. */
export const anyFaviconPath = "/favicon.ico"
export const manifestPath = "/manifest"
/** The colours of the server. */
export const themePath = "/assets/theme.css"
/** The server's picture in previews. */
export const thumbnailPath = "/assets/preview.png"
