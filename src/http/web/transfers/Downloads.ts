/** Returns the type and headers of a download of a private file. */
export const downloadHeaders = (fileName: string) => ({
  contentType: fileName.endsWith(".json") ? "application/json" : "text/csv; charset=utf-8",
  headers: {
    "content-disposition": `attachment; filename="${fileName}"`,
    "cache-control": "private, no-store",
    "x-content-type-options": "nosniff"
  }
})
