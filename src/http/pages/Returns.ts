/** Where somebody lands who signed in for nothing in particular. */
const landing = "/oauth/authorized_applications"

/** Pages to which a sign-in may lead back; anything else in an address is not followed. */
const returns =
  /^\/(?:oauth\/(?:authorize\?|authorized_applications$)|@[\w.-]|tags\/|admin(?:[/?]|$)|disputes\/|settings\/two_factor_authentication$)/
/** Characters of such an address, all of which stand for themselves in a header. */
const returnCharactersMax = 4_000
const plain = /^[!#-;=?-[\]_a-~]+$/

/** The page of ours to which a form or an address wants to lead back. */
export const returnTo = (asked: string | null): string =>
  asked !== null && asked.length <= returnCharactersMax && plain.test(asked) && returns.test(asked) ? asked : landing
