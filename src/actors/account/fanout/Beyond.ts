/** The phase of an intent in which they are told who get a status over a list or a hashtag, by the ids of their subscriptions. */
export const beyondFollowers = 3

/** The lists of a message, where there are any. */
export const listed = (lists: ReadonlyArray<bigint>): { readonly lists?: ReadonlyArray<bigint> } =>
  lists.length === 0 ? {} : { lists }
