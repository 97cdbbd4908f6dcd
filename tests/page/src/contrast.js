// The texts of the page that have less contrast than 4.5 to 1, one a line.

const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

// A drawn pixel says what a colour is, however it is written.
function read(colour) {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
  return { parts: [red, green, blue], alpha: alpha / 255 };
}

function over(top, below) {
  return top.parts.map((part, at) => part * top.alpha + below[at] * (1 - top.alpha));
}

function behind(element) {
  const layers = [];
  for (let at = element; at; at = at.parentElement) layers.push(read(getComputedStyle(at).backgroundColor));
  return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
}

function light(parts) {
  const [red, green, blue] = parts.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one, other) {
  const [dark, bright] = [light(one), light(other)].sort((a, b) => a - b);
  return (bright + 0.05) / (dark + 0.05);
}

const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
const isShown = (element) =>
  element.getClientRects().length > 0 && !element.closest(".visually-hidden, .skip, :disabled");

const pale = [];
for (const element of document.body.querySelectorAll("*")) {
  if (element.namespaceURI.includes("svg") || !hasText(element) || !isShown(element)) continue;
  const below = behind(element);
  const ink = over(read(getComputedStyle(element).color), below);
  const found = contrast(ink, below);
  if (found < 4.5)
    pale.push(
      `${found.toFixed(2)} ${element.className || element.tagName}: ${element.textContent.trim().slice(0, 40)}`,
    );
}
return pale.join("\n");
