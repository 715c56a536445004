/*
 * Bounds of the archives that are read. Archives that are written here have no others: the archive of an account within
 * these bounds can be imported again. They are read as a stream, so the bounds protect the disk and the database.
 */

/** Maximum bytes of an archive to import, as it is uploaded. */
export const archiveBytesMax = 4 * 1_073_741_824
/** Maximum posts and boosts of an archive. */
export const postsMax = 500_000
/** Maximum entries of an archive. A video has two: its file and its preview. */
export const entriesMax = 300_000
/** Maximum bytes of a path: a Postgres index entry holds at most 2,704. */
export const pathBytesMax = 1_000

/**
 * Maximum bytes of all JSON files after they are expanded. There is no ratio: posts that repeat each other compress a
 * hundred times.
 */
export const jsonBytesMax = 1_073_741_824
/**
 * Maximum bytes that all other files expand to, as a multiple of the archive's bytes, and for a small archive. Media
 * hardly compress, and only raw sound and bitmaps twice or three times.
 */
export const fileExpansionMax = 4
export const fileBytesMin = 64 * 1_048_576
