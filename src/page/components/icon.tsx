/** The shapes of the icons, on a grid of 24, as lines. */
const shapes = {
  overview: 'M4 4h7v9H4zM13 4h7v5h-7zM13 11h7v9h-7zM4 15h7v5H4z',
  playground: 'M5 4l14 8-14 8z',
  models: 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9',
  usage: 'M4 20V4M4 20h16M8 16v-4M12 16V8M16 16v-6',
  stored: 'M4 6c0-4 16-4 16 0v12c0 4-16 4-16 0zM4 6c0 4 16 4 16 0M4 12c0 4 16 4 16 0',
  limits: 'M4 18a8 8 0 1 1 16 0M12 18l4-6',
  organizations: 'M4 21V8l8-5 8 5v13M9 21v-6h6v6M4 21h16',
  keys: 'M15 9a4 4 0 1 0-4 4 4 4 0 0 0 4-4zM10 13l-6 7M6 18l2 2',
  providers: 'M4 5h16v6H4zM4 13h16v6H4zM8 8h.01M8 16h.01',
  webhooks: 'M6 9a6 6 0 0 1 12 0c0 6 2 7 2 8H4c0-1 2-2 2-8zM10 20a2 2 0 0 0 4 0',
  requests: 'M9 6h11M9 12h11M9 18h11M4 6h.01M4 12h.01M4 18h.01',
  audit: 'M6 3h9l4 4v14H6zM9 12h7M9 16h7M9 8h3',
  live: 'M3 12h4l3-8 4 16 3-8h4',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M5 19l1.4-1.4M17.6 6.4L19 5',
  moon: 'M20 14A8.5 8.5 0 0 1 10 4a8.5 8.5 0 1 0 10 10z',
  auto: 'M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18',
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'M6 6l12 12M18 6L6 18',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M5 12l5 5 9-10',
  download: 'M12 4v11M7 10l5 5 5-5M5 20h14',
  plus: 'M12 5v14M5 12h14',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  edit: 'M4 20h4L19 9l-4-4L4 16zM13 7l4 4',
  retry: 'M4 12a8 8 0 1 1 2.3 5.7M4 20v-5h5',
  stop: 'M6 6h12v12H6z',
  send: 'M12 20V5M6 11l6-6 6 6',
  image: 'M4 5h16v14H4zM4 16l5-5 4 4 2-2 5 5M15.5 9h.01',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5',
  signOut: 'M14 4H5v16h9M10 12h11M17 8l4 4-4 4',
  help: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM9.5 9.5a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .8-1 1.6M12 16.8h.01',
  columns: 'M4 5h7v14H4zM13 5h7v14h-7z',
} as const

/** The name of an icon. */
export type IconName = keyof typeof shapes

/** An icon, which assistive technology ignores: its button or link has the label. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={shapes[name]} />
    </svg>
  )
}

/** The mark of Weir: water that falls over an edge. */
export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="7" />
      <path d="M7 10h9c5 0 4 12 9 12M7 15h6c5 0 3 7 8 7M7 22h7" />
    </svg>
  )
}
