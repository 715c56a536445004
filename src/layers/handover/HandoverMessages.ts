/** Argument that marks a process as the successor of another; also the message that comes with the port. */
export const flag = "--successor"
/** Message by which the successor asks for the port. */
export const asks = "ready"
