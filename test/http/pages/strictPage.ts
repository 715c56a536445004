/**
 * Returns problems of one of our pages, by a grammar so strict that all parsers agree. Allows only elements and
 * attributes that our pages use; no script but data blocks and files, no style, frame, comment or stray angle bracket.
 */
export const problems = (page: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const rest = page.replace(/^<!doctype html>/, "").replace(parts, "").replace(live, "<body>")
  for (
    const [piece, name, attributes] of rest.matchAll(
      /<\/?([a-z0-9]+)((?: [a-z-]+(?:="[^"<>]*")?)*)(?: \/)?>|[<>]/g
    )
  ) {
    if (name === undefined) found.push(`stray ${piece}`)
    else if (
      name === "script" && attributes !== undefined && attributes !== "" &&
      !/^ type="(?:module" src="\/assets\/web\/[\w.]+|application\/ld\+json)"$/.test(attributes)
    ) {
      found.push(`script ${piece}`)
    } else if (!elements.has(name)) found.push(`element ${piece}`)
    else found.push(...ofAttributes(piece, attributes ?? ""))
  }
  return found
}

/** Attributes for the script of live updates. */
const live = /<body data-me="\/@[\w.]+" data-stream="\/web\/stream\?[\w=&;%-]+">/
/** Template data of the scripts, the same on each page. */
const parts = /<script type="text\/html" id="parts">.*?<\/script>/s

const elements = new Set(
  ("html head meta title link body header main footer section article h1 h2 h3 p br wbr span bdi a del pre code em strong b i u ul ol li " +
    "blockquote div img dl dt dd time details summary table thead tbody tr th td nav svg use aside script meter video audio")
    .split(" ")
)
const attributesKnown = new Set(
  ("lang charset name title property role tabindex aria-hidden aria-label aria-current loading rel content rel type sizes href src alt width height class dir id datetime target translate start reversed value data-labels data-counts data-count")
    .split(" ")
)
const addresses = /^(?:\/(?!\/)|\?|#|mailto:|(?:https?|dat|dweb|ipfs|ipns|ssb|gopher|xmpp|magnet|gemini):)/i

const ofAttributes = (piece: string, attributes: string): ReadonlyArray<string> =>
  [...attributes.matchAll(/ ([a-z-]+)(?:="([^"]*)")?/g)].flatMap(([, name = "", value = ""]) =>
    !attributesKnown.has(name) || ((name === "href" || name === "src") && !addresses.test(value))
      ? [`attribute ${name} in ${piece}`]
      : []
  )
