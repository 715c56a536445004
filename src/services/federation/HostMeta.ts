import { Clock, Effect } from "effect"
import { readMarkup } from "../html/MarkupReader.ts"
import * as DocumentTypes from "../outbound/DocumentTypes.ts"
import type { Outbound } from "../outbound/Outbound.ts"
import { boundedMap } from "../runtime/BoundedMap.ts"
import { bounded } from "../text/BoundedText.ts"

/** Maximum bytes read of a host-meta document, which lists only a few links. */
const documentBytesMax = 65_536
/** Lifetime of a cached template, in milliseconds, and maximum number of hosts in the cache. */
const templateMillisMax = 5 * 60_000
const templatesMax = 1_000
/** Maximum characters of a template, which expands to a URL. */
const templateCharactersMax = 1_024

const placeholder = "{uri}"

/** Returns the template of an XRD document's first `lrdd` link (RFC 6415 section 3.1.1); undefined if it has none. */
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
 * Creates a reader of host-meta documents. It expands the host's template for a resource; undefined if the host has no
 * template. Templates are cached. An unreachable host fails.
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
        ErrorResponse: (error) => error.status >= 500 || error.status === 429 ? error : Effect.succeed(undefined)
      })
    )
    templates.set(origin, { at: now, template })
    return template
  })

  /** `origin` is the host's; `resource` is a WebFinger resource. */
  return (origin: string, resource: string) =>
    Effect.map(templateOf(origin), (template) => template?.replaceAll(placeholder, encodeURIComponent(resource)))
}
