/** Maximum characters of a path to return to, all of which need no escaping in a header. */
export const pathCharactersMax = 4_000
const plain = /^[!#-;=?-[\]_a-~]+$/

/** Returns a path of this server that a form or link names; undefined if it may lead to another server. */
export const ownPath = (asked: string | null): string | undefined =>
  asked !== null && asked.length <= pathCharactersMax && /^\/(?!\/)/.test(asked) && plain.test(asked)
    ? asked
    : undefined
