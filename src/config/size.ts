const units: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1000,
  MB: 1000 ** 2,
  GB: 1000 ** 3,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
}

/** `32MiB`, `500kB` or a number of bytes, in bytes; undefined where it is no size, or none at all. */
export function sizeOf(size: string | number): number | undefined {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(B|[kMG]B|[KMG]iB)$/.exec(asBytes(size)) ?? []
  const bytes = Number(amount) * (units[unit ?? ''] ?? Number.NaN)
  return bytes > 0 ? Math.ceil(Math.min(bytes, Number.MAX_SAFE_INTEGER)) : undefined
}

function asBytes(size: string | number): string {
  return typeof size === 'number' ? `${size}B` : size
}
