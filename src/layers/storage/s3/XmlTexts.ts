import { Effect, Stream } from "effect"
import { Xml } from "effect/encoding"

/** An element without children: its path from the root, such as `ListBucketResult/Contents/Key`, and its text. */
interface Leaf {
  readonly path: string
  readonly text: string
}

/** Maximum characters of a value in S3's documents, and their maximum depth. */
const limits = { maxTokenSize: 8_192, maxDepth: 16 }

/** Returns a document's leaves, in its order. */
export const leaves = (document: string): Effect.Effect<ReadonlyArray<Leaf>, Xml.XmlError> =>
  Stream.make(document).pipe(
    Stream.pipeThroughChannel(Xml.decodeString(limits)),
    Stream.runCollect,
    Effect.map((events) => {
      const found: Array<Leaf> = []
      const way: Array<string> = []
      let text: string | undefined
      for (const event of events) {
        switch (event._tag) {
          case "StartElement":
            way.push(event.name.replace(/^.*:/, ""))
            text = ""
            break
          case "Text":
            if (text !== undefined) text += event.text
            break
          case "EndElement":
            if (text !== undefined) found.push({ path: way.join("/"), text })
            text = undefined
            way.pop()
        }
      }
      return found
    })
  )

/** Returns the text of the first element with this path. */
export const textAt = (found: ReadonlyArray<Leaf>, path: string): string | undefined =>
  found.find((leaf) => leaf.path === path)?.text

/** Returns the texts of repeated elements: of each one at `parent`, those of the named children. */
export const records = <const Name extends string>(
  found: ReadonlyArray<Leaf>,
  parent: string,
  names: ReadonlyArray<Name>
): ReadonlyArray<Readonly<Record<Name, string>>> => {
  const columns = names.map((name) => found.filter(({ path }) => path === `${parent}/${name}`))
  return (columns[0] ?? []).map((_, row) =>
    Object.fromEntries(names.map((name, column) => [name, columns[column]?.[row]?.text ?? ""])) as Record<Name, string>
  )
}

/** Builds the document that completes a multipart upload from its parts' tags, in order. */
export const completion = (tags: ReadonlyArray<string>): string =>
  `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${
    tags.map((tag, index) =>
      `<Part><PartNumber>${index + 1}</PartNumber><ETag>${
        tag.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
      }</ETag></Part>`
    ).join("")
  }</CompleteMultipartUpload>`
