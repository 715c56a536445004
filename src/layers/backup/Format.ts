import { Effect, Schema } from "effect"
import { promisify } from "node:util"
import { gunzip, gzip } from "node:zlib"
import { OperatorError } from "../OperatorError.ts"
import { Sequence, Table } from "./Catalog.ts"
import { StoredSecrets } from "./SecretsCopy.ts"
import type { Rows } from "./Snapshot.ts"

/*
 * A backup is a tar archive. In order: `manifest.json`; `tables/TABLE/NUMBER.json.gz`, a JSON array of rows in the text
 * form of Postgres; `media/NAME`, the stored files; `end.json`, whose absence shows that the archive is incomplete.
 */

export const manifestName = "manifest.json"
export const endName = "end.json"
const mediaFolder = "media/"

/** Maximum bytes of the manifest, the end and some rows, packed and unpacked. */
export const partBytesMax = 268_435_456

const Manifest = Schema.fromJsonString(Schema.Struct({
  format: Schema.Literal(1),
  /** Time of the snapshot. */
  createdAt: Schema.String,
  localDomain: Schema.String,
  migration: Schema.Int,
  tables: Schema.Array(Table),
  sequences: Schema.Array(Sequence),
  secrets: StoredSecrets
}))
export type Manifest = typeof Manifest.Type

const End = Schema.fromJsonString(Schema.Struct({ rows: Schema.Int, files: Schema.Int }))

const damaged = (name: string) => () => new OperatorError({ message: `The backup is damaged: ${name} cannot be read` })
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

export const encodeManifest = Schema.encodeSync(Manifest)
export const decodeManifest = (bytes: Uint8Array) =>
  Effect.mapError(Schema.decodeUnknownEffect(Manifest)(text(bytes)), damaged(manifestName))
export const encodeEnd = Schema.encodeSync(End)
export const decodeEnd = (bytes: Uint8Array) =>
  Effect.mapError(Schema.decodeUnknownEffect(End)(text(bytes)), damaged(endName))

export const mediaName = (file: string): string => mediaFolder + file
/** Returns the name of the stored file in a name of the archive; undefined for other entries. */
export const fileIn = (name: string): string | undefined =>
  name.startsWith(mediaFolder) ? name.slice(mediaFolder.length) : undefined

export const rowsName = (table: string, number: number): string =>
  `tables/${table}/${String(number).padStart(8, "0")}.json.gz`
/** Returns the table in a name of the archive; undefined for other entries. */
export const tableIn = (name: string): string | undefined =>
  /^tables\/([a-z0-9_]{1,63})\/\d{8,}\.json\.gz$/.exec(name)?.[1]

export const packRows = ({ rows }: Rows) => Effect.promise(() => promisify(gzip)(JSON.stringify(rows), { level: 3 }))

const decodeRows = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Array(Schema.String)))

export const unpackRows = (name: string, bytes: Uint8Array) =>
  Effect.tryPromise(() => promisify(gunzip)(bytes, { maxOutputLength: partBytesMax })).pipe(
    Effect.flatMap((unpacked) => decodeRows(text(unpacked))),
    Effect.mapError(damaged(name))
  )
