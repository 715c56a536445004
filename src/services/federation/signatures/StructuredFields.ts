import { Result } from "effect"
import { type Dictionary, parseDictionary, serializeDictionary } from "structured-headers"

/** Parses a header as a dictionary (RFC 8941, section 3.2); undefined if it is malformed. */
export const dictionary = (header: string): Dictionary | undefined =>
  Result.getOrUndefined(Result.try(() => parseDictionary(header)))

/**
 * As `dictionary`, but only for headers in the canonical form of section 4.1, which RFC 9421 signs. That form has no
 * duplicate keys: the standard takes the last one, but a proxy might take the first.
 */
export const canonical = (header: string): Dictionary | undefined => {
  const found = dictionary(header)
  return found !== undefined && serializeDictionary(found) === header.trim() ? found : undefined
}
