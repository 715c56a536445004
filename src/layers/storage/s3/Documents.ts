import { Effect, Stream } from "effect"
import { Xml } from "effect/encoding"

/** An element without children: its path from the root, as `ListBucketResult/Contents/Key`, and its text. */
interface Leaf {
  readonly path: string
  readonly text: string
}

/** Characters of one value in a document of S3's, and how deep they lie. */
const limits = { maxTokenSize: 8_192, maxDepth: 16 }

/** The leaves of a document in its order. */
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

/** The text of the first element of that path. */
export const textAt = (found: ReadonlyArray<Leaf>, path: string): string | undefined =>
  found.find((leaf) => leaf.path === path)?.text

/** The texts of repeated elements: of each one below `parent`, those of the named children. */
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

/** The parts of a file that was sent in pieces, by their tags in their order. */
export const completion = (tags: ReadonlyArray<string>): string =>
  `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${
    tags.map((tag, index) =>
      `<Part><PartNumber>${index + 1}</PartNumber><ETag>${
        tag.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
      }</ETag></Part>`
    ).join("")
  }</CompleteMultipartUpload>`
