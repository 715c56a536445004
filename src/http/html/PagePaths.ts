import { pathCharactersMax } from "./OwnPaths.ts"

/*
 * Paths of pages and images that other areas use as well; the pages define their routes.
 */

export const signInPath = "/auth/sign_in"
/**
 * Path of the sign-in that leads back to one of our paths. A path that is too long to return to is left out: encoding
 * makes it up to three times as long, and headers have a limit.
 */
export const signInTo = (path: string): string =>
  path.length > pathCharactersMax ? signInPath : `${signInPath}?${new URLSearchParams([["return_to", path]])}`
export const signUpPath = "/auth/sign_up"
/** First page of members. */
export const homePath = "/home"
/** Next steps of a new owner. */
export const welcomePath = "/welcome"
/** Documents of the server; a version is below its path by its day. */
export const privacyPath = "/privacy-policy"
export const termsPath = "/terms-of-service"
export const invitesPath = "/invites"
export const authorizedAppsPath = "/oauth/authorized_applications"
/** Pages on which members manage their account. */
export const accountPath = "/settings/account"
/** Push notifications of the browser. */
export const pushPath = "/settings/push"
/** Choice of e-mails. */
export const emailSettingsPath = "/settings/emails"
export const sessionsPath = "/settings/sessions"
export const passkeysPath = "/settings/passkeys"
export const aliasesPath = "/settings/aliases"
export const movePath = "/settings/migration"
export const transfersPath = "/settings/imports"
export const archivesPath = "/settings/archives"
export const deletionPath = "/settings/delete"
/** Sign-in by passkey. */
export const passkeySignInPath = "/auth/passkey"
/** Page that asks for a code after the password. */
export const secondStepPath = "/auth/two_factor"
/** Page on which users set up their second factor. */
export const twoFactorPath = "/settings/two_factor_authentication"
/** Reference of the API. */
export const docsPath = "/api/docs"
/** Guides for operators, moderators and members, and the other documents of the repository. */
export const manualPath = "/docs"

/** Paths of the server's icon and favicon with this edge in pixels: the operator's, or the default. */
export const iconPath = (edge: number): `/${string}` => `/assets/icon-${edge}.png`
export const faviconPath = (edge: number): `/${string}` => `/assets/favicon-${edge}.png`
/** Path that browsers request on their own; they look at the bytes, not at the name. */
export const anyFaviconPath = "/favicon.ico"
export const manifestPath = "/manifest"
/** Colours of the server. */
export const themePath = "/assets/theme.css"
/** The server's picture in previews. */
export const thumbnailPath = "/assets/preview.png"

/** Returns the path of the form to get a local account's posts by e-mail. */
export const subscribingPath = (username: string): string => `/email_subscriptions/new/${username}`
