import { Clock, Effect } from "effect"
import { boundedMap } from "../BoundedMap.ts"
import { readMarkup } from "../html/MarkupReader.ts"
import * as DocumentTypes from "../outbound/DocumentTypes.ts"
import type { Outbound } from "../outbound/Outbound.ts"
import { bounded } from "../text/BoundedText.ts"

/** Bytes of a host-meta document that are read; it names a handful of links. */
const documentBytesMax = 65_536
/** How long a host's answer is remembered, in milliseconds, and hosts of which it is. */
const templateMillisMax = 5 * 60_000
const templatesMax = 1_000
/** Characters of a template; what is made of it is an address. */
const templateCharactersMax = 1_024

const placeholder = "{uri}"

/** The template of an XRD document's first `lrdd` link (RFC 6415 section 3.1.1); undefined where there is none. */
const templateIn = (document: string): string | undefined => {
  let found: string | undefined
  readMarkup(bounded(document, documentBytesMax), {
    open: (name, { rel, template = "" }) => {
      const isLink = name === "link" || name.endsWith(":link")
      if (found === undefined && isLink && rel === "lrdd" && template.includes(placeholder)) found = template
    }
  })
  return found !== undefined && found.length <= templateCharactersMax ? found : undefined
}

/**
 * Makes a reader of host-meta documents: the address of a resource's descriptor by the template that its host names,
 * undefined where the host names none. Each host is asked once in a while; one that cannot be reached fails.
 */
export const make = (outbound: Outbound["Service"]) => {
  const templates = boundedMap<string, { readonly at: number; readonly template: string | undefined }>(templatesMax)

  const templateOf = Effect.fnUntraced(function*(origin: string) {
    const now = yield* Clock.currentTimeMillis
    const known = templates.get(origin)
    if (known !== undefined && now - known.at < templateMillisMax && now >= known.at) return known.template
    const template = yield* outbound.text({
      url: `${origin}/.well-known/host-meta`,
      type: DocumentTypes.xrd,
      bytesMax: documentBytesMax
    }).pipe(
      Effect.map(({ value }) => templateIn(value)),
      Effect.catchTags({
        Refused: () => Effect.succeed(undefined),
        Answered: (error) => error.status >= 500 || error.status === 429 ? error : Effect.succeed(undefined)
      })
    )
    templates.set(origin, { at: now, template })
    return template
  })

  /** `origin` is the host's, `resource` as WebFinger names it. */
  return (origin: string, resource: string) =>
    Effect.map(templateOf(origin), (template) => template?.replaceAll(placeholder, encodeURIComponent(resource)))
}
