/** Argument that marks a process as the successor of another; also the message that comes with the port. */
export const successorFlag = "--successor"
/** Message by which the successor asks for the port. */
export const readyMessage = "ready"
