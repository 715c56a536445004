import { hash } from "node:crypto"

/**
 * Returns a key of 43 characters (base64url of SHA-256) for text of any length that others choose: for rate limits,
 * caches and anything else in memory or Redis. Retains nothing of the text; a slice of a request body would retain the
 * whole body.
 */
export const hashedKey = (text: string): string => hash("sha256", text, "base64url")
