/** Default page after a sign-in. */
const landing = "/oauth/authorized_applications"

/**
 * Pages that a sign-in may lead back to: those that members open. Any other target is ignored, so that no path that acts
 * or redirects elsewhere is reached by a link to the sign-in.
 */
const rooms =
  "home|public|notifications|conversations|tags|explore|search|bookmarks|favourites|lists|follow_requests|publish|settings|" +
  "blocks|mutes|domain_blocks|followed_tags|scheduled|drafts|catchup|invites|welcome|admin|disputes|share|intent|" +
  "authorize_interaction"
const allowedReturns = new RegExp(
  `^/(?:oauth/(?:authorize\\?|authorized_applications$)|@[\\w.-]|(?:${rooms})(?:[/?]|$)|$)`
)
/** Maximum characters of such a path, all of which need no escaping in a header. */
const returnCharactersMax = 4_000
const plain = /^[!#-;=?-[\]_a-~]+$/

/** Returns the requested page if it is on this server, otherwise the default. */
export const returnTo = (asked: string | null): string =>
  asked !== null && asked.length <= returnCharactersMax && plain.test(asked) && allowedReturns.test(asked)
    ? asked
    : landing
