import { Result } from "effect"
import { type Dictionary, parseDictionary, serializeDictionary } from "structured-headers"

/** The dictionary that a header is (RFC 8941, section 3.2); undefined where it is none. */
export const dictionary = (header: string): Dictionary | undefined =>
  Result.getOrUndefined(Result.try(() => parseDictionary(header)))

/**
 * The same, where it is written as section 4.1 has it, and as RFC 9421 has it signed. Then it says nothing twice: the
 * standard believes the last, somebody on the way perhaps the first.
 */
export const canonical = (header: string): Dictionary | undefined => {
  const found = dictionary(header)
  return found !== undefined && serializeDictionary(found) === header.trim() ? found : undefined
}
