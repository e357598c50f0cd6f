const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `30s`, `5m`, `24h`, `1.5d` in milliseconds; undefined where it is no duration, or none at all. */
export function durationOf(text: string): number | undefined {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? []
  const milliseconds = Number(amount) * (units[unit ?? ''] ?? Number.NaN)
  return milliseconds > 0 ? Math.ceil(Math.min(milliseconds, Number.MAX_SAFE_INTEGER)) : undefined
}
