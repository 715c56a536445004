import { ownPath } from "../html/OwnPaths.ts"

/** Default page after a sign-in. */
const landing = "/home"

/** Paths that a sign-in does not lead to: forms of signing in, the API, files, and acts of the web. */
const withoutPage =
  /^\/(?:$|auth(?:[/?]|$)|api\/|web\/|assets\/|system\/|oauth\/(?!authorize\?|authorized_applications(?:\?|$)))/

/** Returns the requested page if it is on this server, otherwise the default. */
export const returnTo = (asked: string | null): string => {
  const path = ownPath(asked)
  return path === undefined || withoutPage.test(path) ? landing : path
}
