import { defineConfig } from "vitest/config";

// Every page loads two entries: `styles/main.css` as a real stylesheet (no flash of unstyled text) and `main.ts`,
// which fetches the elements that a page shows. `{% vite %}` reads the manifest; see pixelbank/web/vite.py.
export default defineConfig({
  root: "platform/frontend",
  // Relative addresses inside the build, so it works under any STATIC_URL.
  base: "./",
  publicDir: false,
  cacheDir: "../../node_modules/.vite",
  build: {
    outDir: "dist",
    emptyOutDir: true,
    manifest: true,
    // light-dark() is kept as written: browsers have had it since spring 2024.
    target: "es2022",
    cssTarget: ["chrome123", "firefox121", "safari17.5"],
    // Fonts stay files: the strict CSP allows no data: fonts, and a file is cached.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: {
      input: {
        main: "platform/frontend/main.ts",
        style: "platform/frontend/styles/main.css",
      },
    },
  },
  test: {
    include: ["**/*.test.ts"],
    environment: "node",
  },
});
