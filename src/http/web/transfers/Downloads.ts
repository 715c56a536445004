const contentTypes: ReadonlyArray<readonly [string, string]> = [
  [".json", "application/json"],
  [".zip", "application/zip"]
]

/** Returns the type and headers of a download of a private file: no cache keeps it. */
export const downloadHeaders = (fileName: string) => ({
  contentType: contentTypes.find(([ending]) => fileName.endsWith(ending))?.[1] ?? "text/csv; charset=utf-8",
  headers: {
    "content-disposition": `attachment; filename="${fileName}"`,
    "cache-control": "private, no-store",
    "x-content-type-options": "nosniff"
  }
})
