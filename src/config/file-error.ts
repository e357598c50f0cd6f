const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read it',
  EPERM: 'this user may not read it',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is not a folder',
}

/** Why a file cannot be read, as a clause without a full stop. */
export function fileErrorReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
  return reasons[code ?? ''] ?? code ?? 'unknown reason'
}
