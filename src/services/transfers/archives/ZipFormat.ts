/*
 * Records of a zip archive (PKWARE APPNOTE 6.3.10, 4.3). An entry's sizes and checksum are known before its header is
 * written, so that any reader can read the archive as a stream. Entries are smaller than 4 GiB; the archive need not be.
 */

/** A file of a zip: its path, and its bytes as stored. `size` is the size before compression. */
export interface ZipEntry {
  readonly path: string
  readonly deflated: boolean
  readonly crc: number
  readonly size: number
  readonly storedSize: number
}

/** Maximum size of an entry, and of an archive without ZIP64 records; values there mean that ZIP64 has the number. */
const max32 = 0xffff_ffff
const max16 = 0xffff
/** Version of the format that reads an entry: 2.0 for deflate, 4.5 for ZIP64. Unix attributes. */
const plainVersion = 20
const zip64Version = 45
const madeBy = (3 << 8) | zip64Version
/** The path is UTF-8. */
const utf8Flag = 0x0800
/** Attributes of a regular file, `-rw-r--r--`. */
const fileAttributes = 0o100644 * 0x10000

/** Maximum bytes of an entry, before and after compression. */
export const entryBytesMax = max32 - 1

interface Field {
  readonly bytes: 2 | 4 | 8
  readonly value: number
}
const u16 = (value: number): Field => ({ bytes: 2, value })
const u32 = (value: number): Field => ({ bytes: 4, value })
const u64 = (value: number): Field => ({ bytes: 8, value })

const record = (fields: ReadonlyArray<Field>, ...rest: ReadonlyArray<Uint8Array>): Uint8Array => {
  const head = Buffer.alloc(fields.reduce((sum, { bytes }) => sum + bytes, 0))
  let at = 0
  for (const { bytes, value } of fields) {
    if (bytes === 8) head.writeBigUInt64LE(BigInt(value), at)
    else head.writeUIntLE(value, at, bytes)
    at += bytes
  }
  return Buffer.concat([head, ...rest])
}

/** Time and date as in DOS, in UTC with a resolution of two seconds; from 1980 to 2107. */
const dosTime = (at: Date): ReadonlyArray<Field> => {
  const year = Math.min(Math.max(at.getUTCFullYear(), 1980), 2107)
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1)
  return [u16(time), u16(((year - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate())]
}

/** Fields that a local header and a directory entry share. */
const shared = ({ crc, deflated, path, size, storedSize }: ZipEntry, at: Date, version: number, extraBytes: number) => [
  u16(version),
  u16(utf8Flag),
  u16(deflated ? 8 : 0),
  ...dosTime(at),
  u32(crc),
  u32(storedSize),
  u32(size),
  u16(Buffer.byteLength(path)),
  u16(extraBytes)
]

/** Returns the header that precedes an entry's bytes. */
export const localHeader = (entry: ZipEntry, at: Date): Uint8Array =>
  record([u32(0x0403_4b50), ...shared(entry, at, plainVersion, 0)], Buffer.from(entry.path))

/** Returns an entry of the directory at the end of the archive; `offset` is that of its header. */
export const directoryEntry = (entry: ZipEntry, at: Date, offset: number): Uint8Array => {
  const large = offset >= max32
  const extra = large ? record([u16(0x0001), u16(8), u64(offset)]) : new Uint8Array(0)
  return record(
    [
      u32(0x0201_4b50),
      u16(madeBy),
      ...shared(entry, at, large ? zip64Version : plainVersion, extra.length),
      u16(0),
      u16(0),
      u16(0),
      u32(fileAttributes),
      u32(large ? max32 : offset)
    ],
    Buffer.from(entry.path),
    extra
  )
}

/** Returns the records that end an archive whose directory has `entries` and begins at `offset`. */
export const directoryEnd = (entries: number, bytes: number, offset: number): Uint8Array => {
  const large = entries >= max16 || bytes >= max32 || offset >= max32
  const zip64 = large
    ? [
      record([
        u32(0x0606_4b50),
        u64(44),
        u16(madeBy),
        u16(zip64Version),
        u32(0),
        u32(0),
        u64(entries),
        u64(entries),
        u64(bytes),
        u64(offset)
      ]),
      record([u32(0x0706_4b50), u32(0), u64(offset + bytes), u32(1)])
    ]
    : []
  const [count, length, start] = large ? [max16, max32, max32] : [entries, bytes, offset]
  return Buffer.concat([
    ...zip64,
    record([u32(0x0605_4b50), u16(0), u16(0), u16(count), u16(count), u32(length), u32(start), u16(0)])
  ])
}
