/** A kind of document to request, and the content types accepted for it. */
export interface DocumentType {
  readonly accept: string
  /** Type in lower case without parameters, and its parameters. */
  readonly accepts: (type: string, parameters: ReadonlyMap<string, string>) => boolean
}

const activityStreams = "https://www.w3.org/ns/activitystreams"

/** ActivityPub section 3.2: `ld+json` only with the profile; any other JSON may be a user's upload. */
export const activity: DocumentType = {
  accept: `application/activity+json, application/ld+json; profile="${activityStreams}"`,
  accepts: (type, parameters) =>
    type === "application/activity+json" ||
    (type === "application/ld+json" && (parameters.get("profile") ?? "").split(/\s+/).includes(activityStreams))
}

const isPage = (type: string) => type === "text/html" || type === "application/xhtml+xml"

/** An object, or the HTML page that may link to it. */
export const activityOrPage: DocumentType = {
  accept: `${activity.accept}, text/html;q=0.1`,
  accepts: (type, parameters) => activity.accepts(type, parameters) || isPage(type)
}

const types = (accept: string, ...accepted: ReadonlyArray<string>): DocumentType => ({
  accept,
  accepts: (type) => accepted.includes(type)
})

/** RFC 7033 section 4.2; some servers send plain JSON. */
export const jrd = types("application/jrd+json, application/json", "application/jrd+json", "application/json")
/** RFC 6415 section 2; some servers say XML. */
export const xrd = types(
  "application/xrd+xml, application/xml, text/xml",
  "application/xrd+xml",
  "application/xml",
  "text/xml"
)
export const plainJson = types("application/json", "application/json")
export const html = types("text/html, application/xhtml+xml", "text/html", "application/xhtml+xml")

/** Parses a Content-Type header to type and parameters (RFC 9110 section 8.3.1), names in lower case. */
export const parse = (header: string): readonly [type: string, parameters: ReadonlyMap<string, string>] => {
  const [type = "", ...rest] = header.match(/[^;"]*(?:"[^"]*"[^;"]*)*/g)?.filter((part) => part !== "") ?? []
  const parameters = rest.map((part): [string, string] => {
    const [name = "", ...value] = part.split("=")
    return [name.trim().toLowerCase(), value.join("=").trim().replaceAll(/^"|"$/g, "")]
  })
  return [type.trim().toLowerCase(), new Map(parameters)]
}
