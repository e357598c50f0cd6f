const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** A bar of a share from 0 to 1 of the width, in eighths of a character; anything above 0 can be seen. */
export function barText(share: number, width: number): string {
  if (!(share > 0)) return ''
  const size = Math.max(1, Math.round(Math.min(1, share) * width * 8))
  return '█'.repeat(Math.floor(size / 8)) + (eighths[size % 8] ?? '')
}
