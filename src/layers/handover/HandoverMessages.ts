/** What tells a program that it succeeds another one; and the word by which it gets the port. */
export const flag = "--successor"
/** The word by which the successor asks for the port. */
export const asks = "ready"
