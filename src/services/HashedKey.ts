import { hash } from "node:crypto"

/**
 * A name of 43 characters (base64url of SHA-256) for what a stranger may choose, however long it is: the key of a limit, a
 * cache or whatever else stays in memory or in Redis. It keeps nothing of the text alive, where a slice of a body would keep the body.
 */
export const hashedKey = (text: string): string => hash("sha256", text, "base64url")
