/** Default page after a sign-in. */
const landing = "/oauth/authorized_applications"

/** Pages that a sign-in may lead back to; any other target is ignored. */
const allowedReturns =
  /^\/(?:oauth\/(?:authorize\?|authorized_applications$)|@[\w.-]|tags\/|admin(?:[/?]|$)|disputes\/|settings\/two_factor_authentication$)/
/** Maximum characters of such a path, all of which need no escaping in a header. */
const returnCharactersMax = 4_000
const plain = /^[!#-;=?-[\]_a-~]+$/

/** Returns the requested page if it is on this server, otherwise the default. */
export const returnTo = (asked: string | null): string =>
  asked !== null && asked.length <= returnCharactersMax && plain.test(asked) && allowedReturns.test(asked)
    ? asked
    : landing
